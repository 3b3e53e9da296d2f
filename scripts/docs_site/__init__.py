"""What the documentation site is made of besides docs: mkdocs.yml names `hooks`."""
