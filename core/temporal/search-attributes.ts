// The search attributes of delivery workflows: what an operator filters by in the Temporal UI. The first five are set
// at the start; DeliveryStatus only when a delivery stops being routine, because every change of one is a write.
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

export const organizationIdAttribute = keyword('OrganizationId');
export const sourceIdAttribute = keyword('SourceId');
export const routeIdAttribute = keyword('RouteId');
export const destinationIdAttribute = keyword('DestinationId');
export const eventIdAttribute = keyword('EventId');
export const deliveryStatusAttribute = keyword('DeliveryStatus');

/** Search attributes that a namespace must have, all of type Keyword. */
export const searchAttributeNames = [
  organizationIdAttribute,
  sourceIdAttribute,
  routeIdAttribute,
  destinationIdAttribute,
  eventIdAttribute,
  deliveryStatusAttribute,
].map(({ name }) => name);
