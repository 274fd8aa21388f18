"""From logits to tokens: shared noise, processors, and the choice that the verifier makes and the drafter guesses."""
