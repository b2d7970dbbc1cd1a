// What the ledger's two tables have in common, and both as one for readers: in one statement, so in one snapshot, an entry is either
// still there or rolled up.

/** The columns that are added up. */
export const SUMS = [
  'events',
  'bytes',
  'routed',
  'filtered',
  'deliveries',
  'removed_bytes',
  'attempts',
  'latency_sum',
  'delivered',
  'failed',
  'failed_over',
  'not_sent',
  'cancelled',
] as const;
/** The columns that keep the later time. */
export const LATEST = ['last_event_at', 'last_success_at', 'last_failure_at'] as const;

const COLUMNS = [
  'organization_id',
  'bucket',
  'source_id',
  'route_id',
  'destination_id',
  'code',
  ...SUMS,
  ...LATEST,
  'latencies',
].join(', ');

const both = (step: string, condition: string): string => `(
  select ${COLUMNS} from rollups where ${step} and ${condition}
  union all
  select ${COLUMNS} from ledger_entries where ${condition}
)`;

/** Rows of the last month, in buckets of 5 minutes or, older than a day, of an hour. @param condition on their columns */
export const recent = (condition: string): string => both('step in (300, 3600)', condition);

/** Rows of all time. @param condition on columns other than `bucket` */
export const ever = (condition: string): string => both(`step = 0 and bucket = 'epoch'`, condition);

/** Of organizations by day (UTC). @param condition on `organization_id` @param since an expression: the first day */
export const byDay = (condition: string, since: string): string => `(
  select organization_id, bucket, events, bytes, removed_bytes, deliveries, attempts, failed_over from rollups
  where step = 86400 and ${condition} and bucket >= ${since}
  union all
  select organization_id, ${dayOf('bucket')}, events, bytes, removed_bytes, deliveries, attempts, failed_over
  from ledger_entries where ${condition} and bucket >= ${since}
)`;

/** The beginning of the day (UTC) of a time. @param at an expression */
export const dayOf = (at: string): string => `date_bin('1 day', ${at}, 'epoch')`;
