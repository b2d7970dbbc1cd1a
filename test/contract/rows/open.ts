// Statements of interface.md without a row. What it leaves open ("not shown") is decided by Hookyard, and said where users
// find it; the rest says nothing that a request could show.

export interface OpenStatement {
  section: string;
  quote: string;
  /** What Hookyard does. */
  decision: string;
}

const open = (section: string, decisions: Record<string, string>): OpenStatement[] =>
  Object.entries(decisions).map(([quote, decision]) => ({ section, quote, decision }));

/** Every one of these contains the words "not shown". */
export const decided: OpenStatement[] = [
  ...open('Destination (flat family, `/api/destinations`)', {
    'Whether authConfig is redacted in ordinary responses':
      'Its secrets (password, token, key, headerValue) are shown as •••• and their last four characters; a redacted value sent back keeps the stored one.',
  }),
  ...open('Route', {
    'Transform, filter and schema records: fields not shown':
      'docs/transforms.md and docs/filters-and-schemas.md show them.',
  }),
  ...open('Event', {
    'Further delivery fields: not shown':
      'routeId, statusCode, error, nextAttemptAt, failoverOf, replayOf, workflowId, temporalUrl and more; GET /api/deliveries/{id} adds the attempts.',
  }),
  ...open('Source', {
    'Allowed values of hmac `algorithm`': 'Algorithms sha1, sha256, sha512; encodings hex, base64.',
  }),
  ...open('Event status', {
    'Transitions: not shown':
      'pending while a delivery is open, then delivered, partial or failed; a replay makes it pending again. Without a matching route it is delivered, with routed false.',
  }),
  ...open('Delivery status', {
    'Other delivery statuses: not shown':
      'pending, retrying, circuit_open, failed, failed_over, schema_failed, skipped, cancelled.',
  }),
  ...open('Circuit breaker (per route)', {
    'Behaviour when a probe fails in half_open':
      'The circuit opens again, its cooldown starts anew, and probeSuccessCount is 0.',
  }),
  ...open('Destination health status', {
    'The length of the window that counts as recent': 'HOOKYARD_HEALTH_WINDOW_HOURS, 24 hours.',
  }),
  ...open('Endpoints', {
    'Success status codes other than 204 for deletes': '201 for a record that was created, 200 everywhere else.',
    'The relationship between the two destination families':
      'One store, two views: the organization-scoped family shows the http destinations.',
    'The public ingest operation behind webhookUrl':
      'POST, PUT or PATCH with any body; 200 {success, eventId} after the commit. docs/how-a-webhook-travels.md',
  }),
  ...open('Destinations, flat family', {
    'Whether PATCH on a flat destination accepts': 'It accepts everything that POST accepts, except another type.',
  }),
  ...open('Routes (flat family)', {
    'Whether PATCH /api/routes/{id} accepts fields beyond those listed':
      'It accepts everything that POST accepts, except another sourceId.',
    'The default period of stats': '24h.',
  }),
  ...open('Authentication', {
    'Issuing, scoping and expiry of these credentials':
      'API keys (/api/api-keys), accepted by both families, with the scopes read and write and an optional expiry.',
    'How the organization is determined for flat-family paths':
      'By the API key. read allows GET, write everything else.',
  }),
  ...open('Events', {
    'The message content and format: not shown': 'Text and HTML; docs/how-a-webhook-travels.md, "Notify".',
    'A catalogue of outbound event kinds or subscription mechanism':
      'There is none: a route tells the addresses in notifyEmails.',
    'The request the service sends to an HTTP destination':
      'The received body (or what the transform made of it), headers and signature as in docs/how-a-webhook-travels.md.',
  }),
  ...open('Errors', {
    'Errors for missing or invalid credentials (401)': '401 UNAUTHORIZED with WWW-Authenticate: Bearer.',
    'The full list of codes: not shown': 'Every code is named by the message that comes with it.',
    'Which endpoints return 410': 'GET payload, GET of an event with includePayload, and its replay.',
  }),
  ...open('Limits', {
    'Rate limits of the management API': 'Off; HOOKYARD_API_RATE_LIMIT_PER_MINUTE sets one per API key.',
    'Maximum number of items in bulk and import requests': '100 ids, 1,000 items of an import.',
    'Maximum incoming payload size': 'HOOKYARD_MAX_PAYLOAD_BYTES, 10 MiB.',
    'Retention period of payloads and events': 'HOOKYARD_PAYLOAD_RETENTION_DAYS 30, HOOKYARD_EVENT_RETENTION_DAYS 90.',
  }),
  ...open('Versioning', {
    'Versioning of the API itself': 'There is none.',
    'How import treats other export versions': '1.x is read; a newer major version is 400.',
  }),
];

/** What announces or introduces something else. */
export const prose: Omit<OpenStatement, 'decision'>[] = [
  {
    section: 'Webhook Routing Service: Interface Specification',
    quote: 'This single document covers the whole service',
  },
  { section: 'Webhook Routing Service: Interface Specification', quote: 'Placeholders such as' },
  { section: 'Destination (flat family, `/api/destinations`)', quote: 'authConfig by authType:' },
  { section: 'Destination (flat family, `/api/destinations`)', quote: 'FieldMapping rule:' },
  { section: 'Source', quote: 'verificationConfig shapes:' },
  { section: 'Destinations, flat family', quote: 'Rules:' },
  { section: 'Routes (flat family)', quote: 'Rules:' },
  { section: 'Errors', quote: 'Other rules:' },
];
