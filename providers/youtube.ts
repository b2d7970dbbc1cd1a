import type { Provider } from './provider.ts';

export const youtube: Provider = {
  name: 'youtube',
  title: 'YouTube',
  docs: 'https://developers.google.com/youtube/v3/guides/push_notifications',
  verification: { kind: 'websub' },
  secret: { is: "the subscription's secret" },
  verifyToken: 'the token that you enter at the hub',
  handshakes: [{ kind: 'websub' }],
  instructions:
    "Create the source, then subscribe at https://pubsubhubbub.appspot.com/subscribe. Enter the ingest URL as the callback URL, and the source's verify token and secret. As the topic URL, enter https://www.youtube.com/xml/feeds/videos.xml?channel_id= followed by the channel ID. Renew the subscription before its lease expires.",
  samples: [
    {
      event: 'video',
      headers: { 'Content-Type': 'application/atom+xml' },
      body: '<feed xmlns:yt="http://www.youtube.com/xml/schemas/2015" xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="https://www.youtube.com/xml/feeds/videos.xml?channel_id=UC0"/><title>YouTube video feed</title><updated>{time}</updated><entry><id>yt:video:{uuid}</id><yt:videoId>{uuid}</yt:videoId><yt:channelId>UC0</yt:channelId><title>Video</title></entry></feed>',
    },
  ],
};
