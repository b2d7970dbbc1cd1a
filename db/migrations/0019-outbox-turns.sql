-- waiting: the delivery's workflow runs, and waits until the rate limit of its destination has a place for the next attempt.
alter table outbox drop constraint outbox_resume_check;
alter table outbox add constraint outbox_resume_check check (resume in ('lost', 'ended', 'waiting'));
