// The pages of what goes wrong, and of making it right: issues, alert channels, replays.
import type { PageRow } from './index.ts';

export const watchPages: PageRow[] = [
  {
    path: '/issues',
    title: 'Issues',
    load: async () => (await import('./issues/Issues.tsx')).Issues,
    menu: 'Watch',
    scope: 'issues:read',
  },
  {
    path: '/issues/$id',
    title: 'Issue',
    load: async () => (await import('./issues/Issue.tsx')).IssuePage,
    scope: 'issues:read',
    idOf: 'iss',
  },
  {
    path: '/alert-channels',
    title: 'Alert channels',
    load: async () => (await import('./alert-channels/Channels.tsx')).Channels,
    menu: 'Watch',
    scope: 'alerts:read',
  },
  {
    path: '/alert-channels/new',
    title: 'New alert channel',
    load: async () => (await import('./alert-channels/ChannelForm.tsx')).NewChannel,
    scope: 'alerts:write',
  },
  {
    path: '/alert-channels/$id',
    title: 'Alert channel',
    load: async () => (await import('./alert-channels/Channel.tsx')).ChannelPage,
    scope: 'alerts:read',
    idOf: 'alc',
  },
  {
    path: '/alert-channels/$id/edit',
    title: 'Edit an alert channel',
    load: async () => (await import('./alert-channels/ChannelForm.tsx')).EditChannel,
    scope: 'alerts:write',
  },
  {
    path: '/replays',
    title: 'Replays',
    load: async () => (await import('./replays/Replays.tsx')).Replays,
    menu: 'Watch',
    scope: 'events:read',
  },
  {
    path: '/replays/new',
    title: 'New replay',
    load: async () => (await import('./replays/NewReplay.tsx')).NewReplay,
    scope: 'events:write',
  },
  {
    path: '/replays/$id',
    title: 'Replay',
    load: async () => (await import('./replays/Replay.tsx')).ReplayPage,
    scope: 'events:read',
    idOf: 'rpl',
  },
];
