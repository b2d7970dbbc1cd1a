// Every page of the console: one row each. A page is a component in a file of its own, loaded when it is opened.
import type { ComponentType } from 'react';
import type { SingleScope } from '../api/caller.tsx';
import type { RangeName } from '../search.ts';

export interface PageRow {
  /** Below the console; parameters as `$id`. */
  path: string;
  title: string;
  /** What else people search for to find it. */
  words?: string;
  load: () => Promise<Record<string, ComponentType>>;
  /** What the file of the page calls it. */
  component: string;
  /** What a key needs for it; others do not find it in the menu, and are told where an address leads them. */
  scope?: SingleScope;
  /** The group of the sidebar it is in; a page without it is reached from others. */
  menu?: 'Watch' | 'Connect' | 'Settings';
  /** The page of the sidebar whose section it belongs to, beside it as a tab. */
  section?: string;
  /** The first tab of its section. */
  tab?: true;
  /** It shows a time range; this one at first. */
  range?: RangeName;
}

type More = Omit<PageRow, 'path' | 'title' | 'load' | 'component' | 'scope'>;

function page<Name extends string>(
  [path, title, scope]: [path: string, title: string, scope?: SingleScope],
  load: () => Promise<Record<Name, ComponentType>>,
  component: Name,
  more: More = {},
): PageRow {
  return { path, title, ...(scope && { scope }), load, component, ...more };
}

const event = () => import('./events/Event.tsx');
const start = () => import('./start/Start.tsx');
const delivery = () => import('./deliveries/Delivery.tsx');
const issues = () => import('./issues/Issues.tsx');
const source = () => import('./sources/Source.tsx');
const sourceForm = () => import('./sources/SourceForm.tsx');
const destination = () => import('./destinations/Destination.tsx');
const destinationForm = () => import('./destinations/DestinationForm.tsx');
const route = () => import('./routes/Route.tsx');
const routeForm = () => import('./routes/RouteForm.tsx');
const rules = () => import('./rules/Lists.tsx');
const filter = () => import('./rules/Filter.tsx');
const transform = () => import('./rules/Transform.tsx');
const schema = () => import('./rules/Schema.tsx');
const channels = () => import('./alert-channels/Channels.tsx');
const channelForm = () => import('./alert-channels/ChannelForm.tsx');
const replays = () => import('./replays/Replays.tsx');
const keys = () => import('./organization/Keys.tsx');
const events = () => import('./events/Events.tsx');
const refusals = () => import('./refusals/Refused.tsx');
const newReplay = () => import('./replays/NewReplay.tsx');
const deliveries = () => import('./deliveries/Deliveries.tsx');
const destinations = () => import('./destinations/Destinations.tsx');
const audit = () => import('./organization/Audit.tsx');
const usage = () => import('./organization/Usage.tsx');
const exchange = () => import('./organization/Exchange.tsx');

export const pages: PageRow[] = [
  page(['/', 'Overview'], () => import('./overview/Overview.tsx'), 'Overview', { menu: 'Watch', range: '24h' }),
  page(['/events', 'Events', 'events:read'], events, 'Events', { menu: 'Watch', tab: true, range: '24h' }),
  page(['/refusals', 'Refused webhooks', 'deliveries:read'], refusals, 'Refused', { section: '/events', range: '24h' }),
  page(['/replays', 'Replays', 'events:read'], replays, 'Replays', { section: '/events' }),
  page(['/replays/new', 'New replay', 'events:write'], newReplay, 'NewReplay', { range: '24h' }),
  page(['/replays/$id', 'Replay', 'events:read'], replays, 'ReplayPage'),
  page(['/events/$id', 'Event', 'events:read'], event, 'EventPage'),
  page(['/deliveries', 'Deliveries', 'deliveries:read'], deliveries, 'Deliveries', { menu: 'Watch', range: '24h' }),
  page(['/deliveries/$id', 'Delivery', 'deliveries:read'], delivery, 'DeliveryPage'),
  page(['/issues', 'Issues', 'issues:read'], issues, 'Issues', { menu: 'Watch' }),
  page(['/issues/$id', 'Issue', 'issues:read'], () => import('./issues/Issue.tsx'), 'IssuePage'),
  page(['/start', 'Get started', 'sources:write'], start, 'Start'),

  page(['/sources', 'Sources', 'sources:read'], () => import('./sources/Sources.tsx'), 'Sources', { menu: 'Connect' }),
  page(['/sources/new', 'New source', 'sources:write'], sourceForm, 'NewSource'),
  page(['/sources/$id', 'Source', 'sources:read'], source, 'SourcePage', { range: '24h' }),
  page(['/sources/$id/edit', 'Edit source', 'sources:write'], sourceForm, 'EditSource'),
  page(['/destinations', 'Destinations', 'destinations:read'], destinations, 'Destinations', { menu: 'Connect' }),
  page(['/destinations/new', 'New destination', 'destinations:write'], destinationForm, 'NewDestination'),
  page(['/destinations/$id', 'Destination', 'destinations:read'], destination, 'DestinationPage', { range: '24h' }),
  page(['/destinations/$id/edit', 'Edit destination', 'destinations:write'], destinationForm, 'EditDestination'),
  page(['/routes', 'Routes', 'routes:read'], () => import('./routes/Routes.tsx'), 'Routes', { menu: 'Connect' }),
  page(['/routes/new', 'New route', 'routes:write'], routeForm, 'NewRoute'),
  page(['/routes/$id', 'Route', 'routes:read'], route, 'RoutePage', { range: '24h' }),
  page(['/routes/$id/edit', 'Edit route', 'routes:write'], routeForm, 'EditRoute'),
  page(['/filters', 'Filters', 'filters:read'], rules, 'Filters', { menu: 'Connect', tab: true }),
  page(['/filters/new', 'New filter', 'filters:write'], filter, 'FilterPage'),
  page(['/filters/$id', 'Filter', 'filters:read'], filter, 'FilterPage'),
  page(['/transforms', 'Transforms', 'transforms:read'], rules, 'Transforms', { section: '/filters' }),
  page(['/transforms/new', 'New transform', 'transforms:write'], transform, 'TransformPage'),
  page(['/transforms/$id', 'Transform', 'transforms:read'], transform, 'TransformPage'),
  page(['/schemas', 'Schemas', 'schemas:read'], rules, 'Schemas', { section: '/filters' }),
  page(['/schemas/new', 'New schema', 'schemas:write'], schema, 'SchemaPage'),
  page(['/schemas/$id', 'Schema', 'schemas:read'], schema, 'SchemaPage'),

  page(['/settings', 'Settings'], () => import('./organization/Settings.tsx'), 'Settings', { menu: 'Settings' }),
  page(['/api-keys', 'API keys', 'keys:read'], keys, 'Keys', {
    ...{ menu: 'Settings', words: 'members users invite team colleagues people roles tokens' },
  }),
  page(['/api-keys/new', 'New API key', 'keys:write'], () => import('./organization/NewKey.tsx'), 'NewKey'),
  page(['/alert-channels', 'Alert channels', 'alerts:read'], channels, 'Channels', { menu: 'Settings' }),
  page(['/alert-channels/new', 'New alert channel', 'alerts:write'], channelForm, 'NewChannel'),
  page(['/alert-channels/$id', 'Alert channel', 'alerts:read'], channels, 'ChannelPage'),
  page(['/alert-channels/$id/edit', 'Edit alert channel', 'alerts:write'], channelForm, 'EditChannel'),
  page(['/audit', 'Audit log', 'audit:read'], audit, 'Audit', { menu: 'Settings', range: '7d' }),
  page(['/usage', 'Usage', 'organization:read'], usage, 'Usage', { menu: 'Settings' }),
  page(['/exchange', 'Import and export', 'destinations:read'], exchange, 'Exchange', { menu: 'Settings' }),
];
