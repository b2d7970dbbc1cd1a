// Every operation of the management API, in the order of its description.
import { destinationExchangeOperations } from '../import-export/destinations.ts';
import { routeExchangeOperations } from '../import-export/routes.ts';
import type { Operation } from './operation.ts';
import { alertChannelOperations } from '../resources/alerts/alert-channels.ts';
import { apiKeyOperations, callerOperation } from '../resources/organization/api-keys.ts';
import { auditOperation } from '../resources/organization/audit.ts';
import { batchOperation } from '../resources/deliveries/batches.ts';
import { deliveryOperations } from '../resources/deliveries/deliveries.ts';
import { deliveryRequestOperation } from '../resources/deliveries/delivery-request.ts';
import {
  deleteDestinationsOperation,
  destinationOperations,
  organizationDestinationOperations,
} from '../resources/destinations/destinations.ts';
import { testDestinationOperation } from '../resources/destinations/destination-test.ts';
import { eventReplayOperations } from '../resources/events/event-replays.ts';
import { eventStreamOperation } from '../resources/events/event-stream.ts';
import { eventOperations } from '../resources/events/events.ts';
import { filterOperations } from '../resources/processing/filters.ts';
import { issueOperations } from '../resources/alerts/issues.ts';
import { metricOperation } from '../resources/organization/metrics.ts';
import { notificationRecipientOperations } from '../resources/alerts/notification-recipients.ts';
import { orderKeyOperations } from '../resources/destinations/order-keys.ts';
import { pauseOperations } from '../resources/routes/pauses.ts';
import { providerOperation, signSampleOperation, signSourceSampleOperation } from '../resources/sources/providers.ts';
import { refusalOperation } from '../resources/sources/refusals.ts';
import { replayOperations } from '../resources/events/replays.ts';
import { routeCircuitOperations } from '../resources/routes/route-circuit.ts';
import { routePreviewOperation } from '../resources/routes/route-preview.ts';
import { manyRoutesOperations, routeOperations } from '../resources/routes/routes.ts';
import { schemaOperations } from '../resources/processing/schemas.ts';
import { secretRotationOperations } from '../resources/sources/secret-rotation.ts';
import { sourceOperations } from '../resources/sources/sources.ts';
import { transformOperations } from '../resources/processing/transforms.ts';
import { usageOperations } from '../resources/organization/usage.ts';

export const managementOperations: Operation[] = [
  ...sourceOperations,
  refusalOperation,
  providerOperation,
  signSampleOperation,
  signSourceSampleOperation,
  ...destinationOperations,
  testDestinationOperation,
  batchOperation,
  ...organizationDestinationOperations,
  ...routeOperations,
  ...routeCircuitOperations,
  routePreviewOperation,
  ...pauseOperations,
  ...orderKeyOperations,
  deleteDestinationsOperation,
  ...manyRoutesOperations,
  ...secretRotationOperations,
  ...destinationExchangeOperations,
  ...routeExchangeOperations,
  ...notificationRecipientOperations,
  ...filterOperations,
  ...transformOperations,
  ...schemaOperations,
  ...eventOperations,
  eventStreamOperation,
  ...replayOperations,
  ...eventReplayOperations,
  ...deliveryOperations,
  ...issueOperations,
  metricOperation,
  deliveryRequestOperation,
  ...alertChannelOperations,
  ...usageOperations,
  callerOperation,
  ...apiKeyOperations,
  auditOperation,
];
