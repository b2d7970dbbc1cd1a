// Destinations of the organization-scoped family in the API's description; their handlers are in
// ../resources/organization-destinations.ts.
import { z } from 'zod';
import { listSchema } from '../resources/destination-record.ts';
import * as organization from '../resources/organization-destinations.ts';
import { customHeaders, health, retryPolicy } from './destinations.ts';
import { flag, idOf, listOf, recentTotals, stamps, text, timestamp } from './members.ts';
import type { Operation } from './operation.ts';

const summaryMembers = {
  id: idOf('dst'),
  name: text('CRM'),
  url: text('https://example.com/hooks'),
  enabled: flag(true),
  ...recentTotals,
};
const destination = z
  .object({
    ...summaryMembers,
    description: text('Of the sales team').nullable(),
    headers: customHeaders,
    retryPolicy,
    lastDeliveryAt: timestamp.nullable(),
    ...stamps,
  })
  .meta({ id: 'OrganizationDestination' });

const base = '/api/organizations/{orgId}/destinations';
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
      schema: listOf(z.object(summaryMembers).meta({ id: 'OrganizationDestinationSummary' })),
    },
  },
  {
    ...common,
    method: 'post',
    path: base,
    operationId: 'createOrganizationDestination',
    summary: 'Create an HTTP destination',
    body: {
      schema: organization.createSchema,
      examples: { plain: { name: 'CRM', url: 'https://example.com/hooks', description: 'Of the sales team' } },
    },
    answer: {
      status: 201,
      description: 'The destination.',
      schema: destination,
      leadsTo: ['getOrganizationDestination', 'updateOrganizationDestination', 'deleteOrganizationDestination'],
    },
    errors: { 400: ['INVALID_URL'] },
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}`,
    operationId: 'getOrganizationDestination',
    summary: 'Get an HTTP destination',
    answer: { status: 200, description: 'The destination.', schema: destination },
  },
  {
    ...common,
    method: 'patch',
    path: `${base}/{id}`,
    operationId: 'updateOrganizationDestination',
    summary: 'Update an HTTP destination',
    description: 'Members that are not sent stay as they are.',
    body: { schema: organization.updateSchema, examples: { pause: { enabled: false } } },
    answer: { status: 200, description: 'The destination as it is now.', schema: destination },
    errors: { 400: ['INVALID_URL'] },
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
