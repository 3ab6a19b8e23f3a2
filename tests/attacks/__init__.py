"""Submissions that attack the judge, as data: what each wants, and what it would leave behind."""
