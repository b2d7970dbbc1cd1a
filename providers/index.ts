// The registry of providers, by name.
import type { Provider } from './provider.ts';
import { adyen } from './adyen.ts';
import { airtable } from './airtable.ts';
import { asana } from './asana.ts';
import { auth0 } from './auth0.ts';
import { awsSns } from './aws-sns.ts';
import { azureEventGrid } from './azure-event-grid.ts';
import { bitbucket } from './bitbucket.ts';
import { braintree } from './braintree.ts';
import { calCom } from './cal-com.ts';
import { calendly } from './calendly.ts';
import { chargebee } from './chargebee.ts';
import { clerk } from './clerk.ts';
import { clickup } from './clickup.ts';
import { coinbase } from './coinbase.ts';
import { coinbaseCommerce } from './coinbase-commerce.ts';
import { datadog } from './datadog.ts';
import { discord } from './discord.ts';
import { docusign } from './docusign.ts';
import { dropbox } from './dropbox.ts';
import { elevenlabs } from './elevenlabs.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import { googlePubsub } from './google-pubsub.ts';
import { hubspot } from './hubspot.ts';
import { instagram } from './instagram.ts';
import { intercom } from './intercom.ts';
import { jira } from './jira.ts';
import { linear } from './linear.ts';
import { mailchimp } from './mailchimp.ts';
import { mailgun } from './mailgun.ts';
import { mandrill } from './mandrill.ts';
import { meta } from './meta.ts';
import { microsoftGraph } from './microsoft-graph.ts';
import { monday } from './monday.ts';
import { notion } from './notion.ts';
import { nylas } from './nylas.ts';
import { okta } from './okta.ts';
import { openai } from './openai.ts';
import { paddle } from './paddle.ts';
import { pagerduty } from './pagerduty.ts';
import { paypal } from './paypal.ts';
import { plaid } from './plaid.ts';
import { postmark } from './postmark.ts';
import { replicate } from './replicate.ts';
import { resend } from './resend.ts';
import { salesforce } from './salesforce.ts';
import { sendgrid } from './sendgrid.ts';
import { sentry } from './sentry.ts';
import { shopify } from './shopify.ts';
import { slack } from './slack.ts';
import { square } from './square.ts';
import { standardWebhooks } from './standard-webhooks.ts';
import { stripe } from './stripe.ts';
import { telegram } from './telegram.ts';
import { trello } from './trello.ts';
import { twilio } from './twilio.ts';
import { twitch } from './twitch.ts';
import { typeform } from './typeform.ts';
import { vercel } from './vercel.ts';
import { webflow } from './webflow.ts';
import { websub } from './websub.ts';
import { whatsapp } from './whatsapp.ts';
import { woocommerce } from './woocommerce.ts';
import { x } from './x.ts';
import { xero } from './xero.ts';
import { youtube } from './youtube.ts';
import { zendesk } from './zendesk.ts';
import { zoom } from './zoom.ts';

export type { Place, Provider } from './provider.ts';

/** In the order of their names. */
export const providers: readonly Provider[] = [
  adyen,
  airtable,
  asana,
  auth0,
  awsSns,
  azureEventGrid,
  bitbucket,
  braintree,
  calCom,
  calendly,
  chargebee,
  clerk,
  clickup,
  coinbase,
  coinbaseCommerce,
  datadog,
  discord,
  docusign,
  dropbox,
  elevenlabs,
  github,
  gitlab,
  googlePubsub,
  hubspot,
  instagram,
  intercom,
  jira,
  linear,
  mailchimp,
  mailgun,
  mandrill,
  meta,
  microsoftGraph,
  monday,
  notion,
  nylas,
  okta,
  openai,
  paddle,
  pagerduty,
  paypal,
  plaid,
  postmark,
  replicate,
  resend,
  salesforce,
  sendgrid,
  sentry,
  shopify,
  slack,
  square,
  standardWebhooks,
  stripe,
  telegram,
  trello,
  twilio,
  twitch,
  typeform,
  vercel,
  webflow,
  websub,
  whatsapp,
  woocommerce,
  x,
  xero,
  youtube,
  zendesk,
  zoom,
];

const byName = new Map(providers.map((provider) => [provider.name, provider]));

/** Undefined when this release does not know it. */
export const providerNamed = (name: string): Provider | undefined => byName.get(name);

export const PROVIDER_NAMES = providers.map(({ name }) => name) as [string, ...string[]];
