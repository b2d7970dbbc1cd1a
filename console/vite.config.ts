// How the console is built: relative addresses, so that it works below a path; what pages share in chunks of their own.
// The built files are compressed by local/first-steps.ts.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  base: './',
  resolve: { alias: { '@hookyard/client': fileURLToPath(new URL('../client/index.ts', import.meta.url)) } },
  // Replaced in each answer (api/console/serve-console.ts).
  html: { cspNonce: '__NONCE__' },
  build: {
    target: 'es2023',
    // They know light-dark(), which would be written in another way for older ones.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // `data:` addresses would need a hole in the content security policy.
    assetsInlineLimit: 0,
    manifest: true,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    // Libraries say "use client" for servers that render; nothing is rendered on a server here.
    rolldownOptions: { onLog: (level, log, handle) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && handle(level, log) },
  },
});
