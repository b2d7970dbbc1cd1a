import type { Provider } from './provider.ts';

const ACKNOWLEDGED =
  '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><notificationsResponse xmlns="http://soap.sforce.com/2005/09/outbound"><Ack>true</Ack></notificationsResponse></soapenv:Body></soapenv:Envelope>';

export const salesforce: Provider = {
  name: 'salesforce',
  title: 'Salesforce (outbound messages)',
  docs: 'https://developer.salesforce.com/docs/platform/api/guide/sforce-api-om-outboundmessaging-wsdl.html',
  // The answer: the element notificationsResponse of that page.
  verification: { kind: 'query-token', parameter: 'token' },
  secret: { is: 'a token that you choose' },
  answer: { status: 200, body: ACKNOWLEDGED, contentType: 'text/xml' },
  instructions:
    "Go to Setup › Outbound Messages › New. As the endpoint URL, enter the ingest URL followed by ?token= and the token. Messages are unsigned SOAP; the source's response acknowledges them.",
  samples: [
    {
      event: 'notifications',
      headers: { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction: '""' },
      body: '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><notifications xmlns="http://soap.sforce.com/2005/09/outbound"><OrganizationId>00D5e000000KQ2eEAG</OrganizationId><ActionId>04k5e000000CaRkAAK</ActionId><Notification><Id>{uuid}</Id></Notification></notifications></soapenv:Body></soapenv:Envelope>',
    },
  ],
};
