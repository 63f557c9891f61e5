"""From a location to documents: a safe git mirror, blobs, which files count, decoding, redaction, permalinks."""
