// The types of alert channels, and what each is configured by.
import type { AlertChannel } from '@hookyard/client';

type ChannelType = AlertChannel['type'];

/** The members of each type's config, in the order of the form. */
export const CONFIGS: Record<ChannelType, { name: string; label: string; help?: string; choices?: string[] }[]> = {
  mail: [{ name: 'emails', label: 'Email addresses', help: 'Comma-separated.' }],
  webhook: [
    { name: 'url', label: 'URL' },
    { name: 'secret', label: 'Secret', help: 'Signs the messages (Standard Webhooks, whsec_…).' },
  ],
  slack: [{ name: 'url', label: 'Incoming webhook URL' }],
  teams: [{ name: 'url', label: 'Workflow URL', help: 'From a workflow triggered by a webhook.' }],
  pagerduty: [
    { name: 'routingKey', label: 'Integration key', help: 'From an Events API v2 integration.' },
    { name: 'severity', label: 'Severity', choices: ['critical', 'error', 'warning', 'info'] },
    { name: 'region', label: 'Region', choices: ['us', 'eu'] },
  ],
};

export const TYPES: Readonly<Record<ChannelType, string>> = {
  mail: 'Email',
  webhook: 'Signed webhook',
  slack: 'Slack',
  teams: 'Microsoft Teams',
  pagerduty: 'PagerDuty',
};
