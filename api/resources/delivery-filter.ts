// The filters of deliveries.
// Rules: DLV-50.
import { z } from 'zod';
import { DELIVERY_STATUSES } from '../../core/delivery-status.ts';
import { LANES } from '../../core/lane.ts';
import { CODE_CLASSES, type DeliveryFilter } from '../../db/history/delivery-filter.ts';
import { choiceParam, choicesParam, containsPattern, integerParam, textParam, timeParam } from '../query.ts';

const CODES = { min: 100, max: 599 };

export const deliveryFilterParams = {
  sourceId: textParam,
  routeId: textParam,
  destinationId: textParam,
  status: choicesParam(DELIVERY_STATUSES).meta({ description: 'One or several.' }),
  statusCode: integerParam(CODES.min, CODES.max).meta({ description: 'Of the latest attempt.' }),
  codeClass: choiceParam(CODE_CLASSES).meta({
    description: 'Of the latest attempt; `none`: it had no answer.',
  }),
  error: textParam.meta({ description: 'A part of the error of the latest attempt.' }),
  lane: choiceParam(LANES).meta({ description: 'Of the first attempt.' }),
  from: timeParam,
  to: timeParam,
};

const status = z.enum(DELIVERY_STATUSES);

/** The same in a body. */
export const deliveryFilterMembers = {
  ...deliveryFilterParams,
  status: z.union([status.transform((one) => [one]), z.array(status).min(1).max(DELIVERY_STATUSES.length)]).optional(),
  statusCode: z.int().min(CODES.min).max(CODES.max).optional().meta({ description: 'Of the latest attempt.' }),
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
