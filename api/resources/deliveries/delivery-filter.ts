// The filters of deliveries.
// Rules: DLV-50.
import { z } from 'zod';
import { DELIVERY_STATUSES } from '../../../core/delivery/delivery-status.ts';
import { LANES } from '../../../core/delivery/lane.ts';
import { CODE_CLASSES, type DeliveryFilter } from '../../../db/history/delivery-filter.ts';
import {
  choiceParam,
  choicesParam,
  containsPattern,
  integerParam,
  textMember,
  textParam,
  timeParam,
} from '../../request/query.ts';

const CODES = { min: 100, max: 599 };
const OF_CODE_CLASS = { description: 'Of the latest attempt; `none`: it had no answer.' };
const OF_ERROR = { description: 'A part of the error of the latest attempt.' };
const OF_LANE = { description: 'Of the first attempt.' };

export const deliveryFilterParams = {
  sourceId: textParam,
  routeId: textParam,
  destinationId: textParam,
  status: choicesParam(DELIVERY_STATUSES).meta({ description: 'One or several.' }),
  statusCode: integerParam(CODES.min, CODES.max).meta({ description: 'Of the latest attempt.' }),
  codeClass: choiceParam(CODE_CLASSES).meta(OF_CODE_CLASS),
  error: textParam.meta(OF_ERROR),
  lane: choiceParam(LANES).meta(OF_LANE),
  from: timeParam,
  to: timeParam,
};

const status = z.enum(DELIVERY_STATUSES);

/** The same in the body of a request that acts on what it selects. */
export const deliveryFilterMembers = {
  sourceId: textMember,
  routeId: textMember,
  destinationId: textMember,
  status: z.union([status.transform((one) => [one]), z.array(status).min(1).max(DELIVERY_STATUSES.length)]).optional(),
  statusCode: z.int().min(CODES.min).max(CODES.max).optional().meta({ description: 'Of the latest attempt.' }),
  codeClass: z.enum(CODE_CLASSES).optional().meta(OF_CODE_CLASS),
  error: textMember.meta(OF_ERROR),
  lane: z.enum(LANES).optional().meta(OF_LANE),
  from: timeParam,
  to: timeParam,
};

/** The filters for which rows have to be read. */
export const SEARCHED = ['statusCode', 'codeClass', 'error', 'lane'] as const;

/** Turns parsed filters into those of the database. */
export function deliveryFilter({
  error,
  ...filter
}: Omit<DeliveryFilter, 'errorPattern'> & { error?: string | undefined }): DeliveryFilter {
  const { sourceId, routeId, destinationId, status, statusCode, codeClass, lane, from, to } = filter;
  const errorPattern = error && containsPattern(error);
  return { sourceId, routeId, destinationId, status, statusCode, codeClass, errorPattern, lane, from, to };
}
