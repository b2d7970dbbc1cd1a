// Started by ../build.ts, which writes the pages and site.json.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DefaultTheme, defineConfig, type HeadConfig } from 'vitepress';
import type { Site } from '../build.ts';

const file = join(import.meta.dirname, '..', 'pages', 'site.json');
const { base, version, isNewest, versions, books } = JSON.parse(readFileSync(file, 'utf8')) as Site;
const REPOSITORY = 'https://github.com/hookyard/hookyard';
const folderOf = (link: string) => link.replace(/[^/]*$/, '');

/** Each book has a menu of its own, also for its pages outside of its folder. */
const sidebar: DefaultTheme.SidebarMulti = {};
for (const { groups } of books) {
  const items = groups.map(({ text, items }) => ({ text, items }));
  for (const { link } of groups.flatMap((group) => group.items).filter(({ link }) => link.startsWith('/'))) {
    sidebar[folderOf(link) === '/' ? link : folderOf(link)] = items;
  }
}

export default defineConfig({
  title: 'Hookyard',
  description: 'Webhook router: receives, stores and delivers webhooks',
  base,
  srcDir: 'pages',
  outDir: '../dist/site',
  cacheDir: '../dist/.vitepress',
  cleanUrls: true,
  head: [
    ['link', { rel: 'icon', href: `${base}icon.svg` }],
    // Search engines find the newest version.
    ...(isNewest ? [] : [['meta', { name: 'robots', content: 'noindex' }] satisfies HeadConfig]),
  ],
  vite: { build: { target: 'es2022', chunkSizeWarningLimit: 4000 } },
  markdown: {
    // As GitHub does it, so that links to headings work in both.
    anchor: {
      slugify: (text) =>
        text
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\s_-]/gu, '')
          .replaceAll(' ', '-'),
    },
    config({ renderer: { rules } }) {
      const render = rules.code_inline;
      // Braces in code are no Vue.
      if (render) rules.code_inline = (...args) => render(...args).replace('<code', '<code v-pre');
    },
  },
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      ...books.flatMap(({ title, groups }) => {
        const item = groups.flatMap((group) => group.items).find(({ link }) => link.startsWith('/'));
        return item === undefined ? [] : [{ text: title, link: item.link, activeMatch: folderOf(item.link) }];
      }),
      {
        text: version,
        items: [
          ...versions.map((each) => ({ ...each, target: '_self', noIcon: true })),
          { text: 'Changelog', link: `${REPOSITORY}/blob/main/CHANGELOG.md` },
        ],
      },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
  },
});
