-- When housekeeping last began with the deletion of an organization: the next round begins with others, so that one that fails, or
-- that takes days, does not hold them up.
alter table organizations add column deletion_tried_at timestamptz;

-- When mails asked the owner, the last five of them: how many mails an address gets is limited, not how many organizations ask it.
alter table notification_recipients add column asked_times timestamptz(3)[] not null default '{}';
