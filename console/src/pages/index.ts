// Every page of the console: one row each. A page is a component in a file of its own, loaded when it is opened.
import type { ComponentType } from 'react';
import type { SingleScope } from '../api/caller.tsx';
import { organizationPages } from './organization.ts';
import { setUpPages } from './set-up.ts';
import { watchPages } from './watch.ts';

export interface PageRow {
  /** Below the console; parameters as `$id`. */
  path: string;
  title: string;
  load: () => Promise<ComponentType>;
  /** Where it is in the menu; a page without it is reached from others. */
  menu?: 'Look' | 'Set up' | 'Watch' | 'Organization';
  /** What a key needs for it; others do not find it in the menu, and are told where an address leads them. */
  scope?: SingleScope;
  /** The prefix of the ids whose page this is: a pasted id opens it. Needs the parameter `$id`. */
  idOf?: string;
}

export const pages: PageRow[] = [
  { path: '/', title: 'Overview', load: async () => (await import('./overview/Overview.tsx')).Overview, menu: 'Look' },
  {
    path: '/events',
    title: 'Events',
    load: async () => (await import('./events/Events.tsx')).Events,
    menu: 'Look',
    scope: 'events:read',
  },
  {
    path: '/events/$id',
    title: 'Event',
    load: async () => (await import('./events/Event.tsx')).EventPage,
    scope: 'events:read',
    idOf: 'evt',
  },
  {
    path: '/deliveries',
    title: 'Deliveries',
    load: async () => (await import('./deliveries/Deliveries.tsx')).Deliveries,
    menu: 'Look',
    scope: 'deliveries:read',
  },
  {
    path: '/deliveries/$id',
    title: 'Delivery',
    load: async () => (await import('./deliveries/Delivery.tsx')).DeliveryPage,
    scope: 'deliveries:read',
    idOf: 'dlv',
  },
  {
    path: '/refusals',
    title: 'Refused webhooks',
    load: async () => (await import('./refusals/Refused.tsx')).Refused,
    menu: 'Look',
    scope: 'deliveries:read',
  },
  {
    path: '/start',
    title: 'First webhook',
    load: async () => (await import('./start/Start.tsx')).Start,
    menu: 'Set up',
    scope: 'sources:write',
  },
  ...setUpPages,
  ...watchPages,
  ...organizationPages,
];
