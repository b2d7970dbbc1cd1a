// The methods by which webhooks come in and are delivered.
export const METHODS = ['POST', 'PUT', 'PATCH'] as const;
export type DeliveryMethod = (typeof METHODS)[number];
