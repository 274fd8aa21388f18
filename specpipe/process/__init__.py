"""What the long-lived processes of an instance have in common: how they end, how they beat, how they meet."""
