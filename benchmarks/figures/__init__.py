"""The project's own figures: sections of its documentation, and what is known of published golds.

`expectations/` is what coverage was when somebody last looked, `expectations/published/` why published golds
return other rows, `judged/` what reading has said about findings and explanations. No text of a published
gold is in there; question ids, digests and reasons are. A checkout has this folder, and no wheel.
"""
