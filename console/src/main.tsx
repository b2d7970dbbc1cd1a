// Where the console begins: makes ready what the browser lacks, takes the code of a sign-in link out of the address,
// and draws.
import './mantine.css';
import './console.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { nonce } from './nonce.ts';
import { queryClient } from './api/queries.ts';
import { Gate, signInWith } from './shell/Gate.tsx';
import { Notifications } from './shell/later.ts';
import { theme, variables } from './theme.ts';
import { ZoneProvider } from './zone.tsx';

// Libraries that make style elements ask here for the nonce.
setNonce(nonce);

const code = takeCode();
// Once, however often React draws: a code is good for once.
const link = code === null ? Promise.resolve(null) : signInWith(code);
const place = document.getElementById('root');
if (!place) throw new Error('the page has no element with the ID root');
createRoot(place).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <ZoneProvider>
          <Suspense fallback={null}>
            <Notifications />
          </Suspense>
          <Gate link={link} />
        </ZoneProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);

// The one-time code of a sign-in link, `#code=...`: a fragment is never sent to a server, nor to the next page.

/** Takes the code out of the address, so that it stays in no history. */
function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code !== null) history.replaceState(null, '', location.pathname + location.search);
  return code;
}
