"""From a plan to its trials: data sets, one trial, all trials."""
