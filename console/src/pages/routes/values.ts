// A route as its form holds it, and back as the API takes it.
import type { Route } from '@hookyard/client';
import type { Input } from '../../api/client.ts';
import { changedOf } from '../../forms/changed.ts';
import { type ConditionRow, conditionsOf, rowsOf } from '../../forms/Conditions.tsx';

export interface RouteValues {
  name: string;
  description: string;
  sourceId: string | null;
  destinationIds: string[];
  filterId: string | null;
  filterConditions: ConditionRow[] | null;
  filterLogic: 'AND' | 'OR';
  schemaId: string | null;
  transformId: string | null;
  priority: number | null;
  failoverDestinationIds: string[];
  failoverAfterAttempts: number | null;
  circuitFailureThreshold: number | null;
  circuitCooldownSeconds: number | null;
  circuitProbeSuccessThreshold: number | null;
  expectedResponse: { statusCodes: string; bodyContains: string };
  notifyEmails: string;
  notifyOnFailure: boolean;
  notifyOnSuccess: boolean;
  notifyOnRecovery: boolean;
  lane: Route['lane'] | null;
  allowOwnAddress: boolean;
  enabled: boolean;
}

/** The defaults of the API. */
export const NEW: RouteValues = {
  name: '',
  description: '',
  sourceId: null,
  destinationIds: [],
  filterId: null,
  filterConditions: null,
  filterLogic: 'AND',
  schemaId: null,
  transformId: null,
  priority: 0,
  failoverDestinationIds: [],
  failoverAfterAttempts: 3,
  circuitFailureThreshold: 5,
  circuitCooldownSeconds: 300,
  circuitProbeSuccessThreshold: 2,
  expectedResponse: { statusCodes: '', bodyContains: '' },
  notifyEmails: '',
  notifyOnFailure: false,
  notifyOnSuccess: false,
  notifyOnRecovery: false,
  lane: null,
  allowOwnAddress: false,
  enabled: true,
};

export const FIELDS = [...Object.keys(NEW), 'expectedResponse.statusCodes', 'expectedResponse.bodyContains'];

export function valuesOf(route: Route): RouteValues {
  const known = Object.keys(NEW) as (keyof RouteValues)[];
  const same = Object.fromEntries(known.map((name) => [name, route[name as keyof Route]])) as unknown as RouteValues;
  return {
    ...same,
    description: route.description ?? '',
    filterConditions: route.filterConditions && rowsOf(route.filterConditions),
    notifyEmails: route.notifyEmails ?? '',
    lane: route.lane ?? null,
    expectedResponse: {
      statusCodes: route.expectedResponse?.statusCodes?.join(', ') ?? '',
      bodyContains: route.expectedResponse?.bodyContains ?? '',
    },
  };
}

/** The members that are sent. */
export function bodyOf(values: RouteValues, changed: ReadonlySet<string>): Input<'updateRoute'>['body'] {
  const { expectedResponse, filterConditions } = values;
  const codes = expectedResponse.statusCodes.split(/[\s,]+/).filter((text) => text !== '');
  const body = {
    ...values,
    description: values.description || null,
    lane: values.lane || null,
    notifyEmails: values.notifyEmails || null,
    filterConditions: filterConditions && conditionsOf(filterConditions),
    expectedResponse:
      codes.length === 0 && expectedResponse.bodyContains === ''
        ? null
        : {
            // What is no number is sent as it is: the API says what is wrong with it.
            ...(codes.length > 0 && { statusCodes: codes.map((text) => (/^\d+$/.test(text) ? Number(text) : text)) }),
            ...(expectedResponse.bodyContains !== '' && { bodyContains: expectedResponse.bodyContains }),
          },
  };
  return changedOf(body, changed) as Input<'updateRoute'>['body'];
}
