// Which deliveries a filter selects.
import { DELIVERY_STATUSES, type Lane } from '../../core/delivery/delivery.ts';
import type { Parameters, Selection } from './selection.ts';

/** Of the latest attempt; `none`: attempts were made, and the latest had no answer. */
export const CODE_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx', 'none'] as const;
export type CodeClass = (typeof CODE_CLASSES)[number];

export interface DeliveryFilter {
  sourceId?: string;
  routeId?: string;
  destinationId?: string;
  /** One of these. */
  status?: string[];
  /** Of the latest attempt. */
  statusCode?: number;
  codeClass?: CodeClass;
  /** A LIKE pattern that the error of the latest attempt must match; letter case is ignored. */
  errorPattern?: string;
  /** In which the first attempt was made. */
  lane?: Lane;
  /** Created at or after. */
  from?: Date;
  /** Created at or before. */
  to?: Date;
}

// What succeeds has no error (core/delivery/verdict.ts), so most rows need not be read.
const WITH_ERROR = DELIVERY_STATUSES.filter((status) => status !== 'delivered');

export function deliverySelection(organizationId: string, filter: DeliveryFilter): Selection {
  const { from, to, sourceId, routeId, destinationId, status, errorPattern } = filter;
  const statuses =
    errorPattern === undefined ? status : WITH_ERROR.filter((each) => status === undefined || status.includes(each));
  const conditions = conditionsOf(filter);
  return {
    kind: 'delivery',
    organizationId,
    from,
    to,
    where: { source_id: sourceId, route_id: routeId, destination_id: destinationId, status: statuses },
    ...(conditions.length > 0 && {
      also: (query: Parameters) => conditions.map((condition) => condition(query)).join(' and '),
    }),
  };
}

/** Whether it asks for what the latest attempt was answered. */
export const isDeliverySearch = (filter: DeliveryFilter): boolean => conditionsOf(filter).length > 0;

function conditionsOf({ statusCode, codeClass, errorPattern, lane }: DeliveryFilter) {
  const conditions: ((query: Parameters) => string)[] = [];
  if (statusCode !== undefined) conditions.push((query) => `r.status_code = ${query.add(statusCode)}`);
  if (codeClass === 'none') conditions.push(() => 'r.status_code is null and r.attempt_count > 0');
  else if (codeClass !== undefined) {
    const first = Number(codeClass.charAt(0)) * 100;
    conditions.push((query) => `r.status_code between ${query.add(first)} and ${query.add(first + 99)}`);
  }
  if (errorPattern !== undefined) conditions.push((query) => `r.error ilike ${query.add(errorPattern)}`);
  if (lane !== undefined) conditions.push((query) => `r.lane = ${query.add(lane)}`);
  return conditions;
}
