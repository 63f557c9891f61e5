"""The only place that builds things: settings -> rag -> bot -> scheduler."""
