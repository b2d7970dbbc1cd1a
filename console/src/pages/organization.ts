// The pages of the organization itself: keys, audit log, usage, files, settings.
import type { PageRow } from './index.ts';

export const organizationPages: PageRow[] = [
  {
    path: '/api-keys',
    title: 'API keys',
    load: async () => (await import('./organization/Keys.tsx')).Keys,
    menu: 'Organization',
    scope: 'keys:read',
  },
  {
    path: '/api-keys/new',
    title: 'New API key',
    load: async () => (await import('./organization/NewKey.tsx')).NewKey,
    scope: 'keys:write',
  },
  {
    path: '/audit',
    title: 'Audit log',
    load: async () => (await import('./organization/Audit.tsx')).Audit,
    menu: 'Organization',
    scope: 'audit:read',
  },
  {
    path: '/usage',
    title: 'Usage',
    load: async () => (await import('./organization/Usage.tsx')).Usage,
    menu: 'Organization',
    scope: 'organization:read',
  },
  {
    path: '/exchange',
    title: 'Import and export',
    load: async () => (await import('./organization/Exchange.tsx')).Exchange,
    menu: 'Organization',
    scope: 'destinations:read',
  },
  {
    path: '/settings',
    title: 'Settings',
    load: async () => (await import('./organization/Settings.tsx')).Settings,
    menu: 'Organization',
  },
];
