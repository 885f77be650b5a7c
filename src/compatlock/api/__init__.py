"""The library's entry points; each is imported when first used."""
