"""Questions about how a repository is set up, and the files that say it: dependencies, CI, containers, tasks, licences, tools."""
