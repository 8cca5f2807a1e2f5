/// Tests share this.
