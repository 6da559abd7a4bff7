"""From recorded trials to answers: cells, verdicts, findings. Pure: no I/O."""
