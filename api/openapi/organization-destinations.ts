// Destinations of the organization-scoped family in the API's description; their handlers are in
// ../resources/organization-destinations.ts.
import { listSchema } from '../resources/destination-record.ts';
import { updateDestinationSchema } from '../members/destinations.ts';
import { createHttpBody, health, httpDestination, httpSummary } from './destinations.ts';
import { NO_CODE } from './errors.ts';
import { listOf } from '../members/values.ts';
import type { Operation } from './operation.ts';

const base = '/api/organizations/{orgId}/destinations';
const refused = { 400: ['INVALID_URL', 'INVALID_SLUG', NO_CODE], 409: ['DUPLICATE_SLUG'] };
const common = { tag: 'Organization destinations', idOf: ['dst'] } as const;

export const organizationDestinationOperations: Operation[] = [
  {
    ...common,
    method: 'get',
    path: base,
    operationId: 'listOrganizationDestinations',
    summary: 'List HTTP destinations',
    query: listSchema,
    answer: {
      status: 200,
      description: 'One page, newest first.',
      schema: listOf(httpSummary),
    },
  },
  {
    ...common,
    method: 'post',
    path: base,
    operationId: 'createOrganizationDestination',
    summary: 'Create an HTTP destination',
    body: {
      schema: createHttpBody,
      examples: { plain: { name: 'CRM', url: 'https://example.com/hooks', description: 'Of the sales team' } },
    },
    answer: {
      status: 201,
      description: 'The destination.',
      schema: httpDestination,
      leadsTo: ['getOrganizationDestination', 'updateOrganizationDestination', 'deleteOrganizationDestination'],
    },
    errors: refused,
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}`,
    operationId: 'getOrganizationDestination',
    summary: 'Get an HTTP destination',
    answer: { status: 200, description: 'The destination.', schema: httpDestination },
  },
  {
    ...common,
    method: 'patch',
    path: `${base}/{id}`,
    operationId: 'updateOrganizationDestination',
    summary: 'Update an HTTP destination',
    description: 'Members that are not sent stay as they are.',
    body: { schema: updateDestinationSchema, examples: { pause: { enabled: false } } },
    answer: { status: 200, description: 'The destination as it is now.', schema: httpDestination },
    errors: refused,
  },
  {
    ...common,
    method: 'delete',
    path: `${base}/{id}`,
    operationId: 'deleteOrganizationDestination',
    summary: 'Delete an HTTP destination',
    description: 'It is taken out of all routes; the history of its deliveries stays.',
    answer: { status: 204, description: 'It is deleted.' },
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}/health`,
    operationId: 'getOrganizationDestinationHealth',
    summary: "Get an HTTP destination's health",
    answer: { status: 200, description: 'The health.', schema: health },
  },
];
