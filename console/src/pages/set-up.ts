// The pages of what a webhook meets on its way: sources, routes, destinations, and what routes refer to.
import type { PageRow } from './index.ts';

export const setUpPages: PageRow[] = [
  {
    path: '/routes',
    title: 'Routes',
    load: async () => (await import('./routes/Routes.tsx')).Routes,
    menu: 'Set up',
    scope: 'routes:read',
  },
  {
    path: '/routes/new',
    title: 'New route',
    load: async () => (await import('./routes/RouteForm.tsx')).NewRoute,
    scope: 'routes:write',
  },
  {
    path: '/routes/$id',
    title: 'Route',
    load: async () => (await import('./routes/Route.tsx')).RoutePage,
    scope: 'routes:read',
    idOf: 'rte',
  },
  {
    path: '/routes/$id/edit',
    title: 'Edit a route',
    load: async () => (await import('./routes/RouteForm.tsx')).EditRoute,
    scope: 'routes:write',
  },
  {
    path: '/filters',
    title: 'Filters',
    load: async () => (await import('./rules/Lists.tsx')).Filters,
    menu: 'Set up',
    scope: 'filters:read',
  },
  {
    path: '/filters/new',
    title: 'New filter',
    load: async () => (await import('./rules/Filter.tsx')).FilterPage,
    scope: 'filters:write',
  },
  {
    path: '/filters/$id',
    title: 'Filter',
    load: async () => (await import('./rules/Filter.tsx')).FilterPage,
    scope: 'filters:read',
    idOf: 'flt',
  },
  {
    path: '/transforms',
    title: 'Transforms',
    load: async () => (await import('./rules/Lists.tsx')).Transforms,
    menu: 'Set up',
    scope: 'transforms:read',
  },
  {
    path: '/transforms/new',
    title: 'New transform',
    load: async () => (await import('./rules/Transform.tsx')).TransformPage,
    scope: 'transforms:write',
  },
  {
    path: '/transforms/$id',
    title: 'Transform',
    load: async () => (await import('./rules/Transform.tsx')).TransformPage,
    scope: 'transforms:read',
    idOf: 'tfm',
  },
  {
    path: '/schemas',
    title: 'Schemas',
    load: async () => (await import('./rules/Lists.tsx')).Schemas,
    menu: 'Set up',
    scope: 'schemas:read',
  },
  {
    path: '/schemas/new',
    title: 'New schema',
    load: async () => (await import('./rules/Schema.tsx')).SchemaPage,
    scope: 'schemas:write',
  },
  {
    path: '/schemas/$id',
    title: 'Schema',
    load: async () => (await import('./rules/Schema.tsx')).SchemaPage,
    scope: 'schemas:read',
    idOf: 'sch',
  },
];
