// order
