-- When somebody judged a verdict: from then on, and not from the verdict on, who was called harmless is left alone.
alter table ai_verdicts add column marked_at timestamptz;
update ai_verdicts set marked_at = last_at where marked is not null;
