"""From words to token ids and back: tokenizers, chat templates, and text that grows a token at a time."""
