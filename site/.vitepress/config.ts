// Started by ../build.ts, which writes the pages and books.json.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DefaultTheme, defineConfig } from 'vitepress';
import type { Book } from '../build.ts';

const books = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'pages', 'books.json'), 'utf8')) as Book[];
const folderOf = (link: string) => link.replace(/[^/]*$/, '');

/** Each book has a menu of its own, also for its pages outside of its folder. */
const sidebar: DefaultTheme.SidebarMulti = {};
for (const { groups } of books) {
  const items = groups.map(({ text, items }) => ({ text, items }));
  for (const { link } of groups.flatMap((group) => group.items).filter(({ link }) => link.startsWith('/'))) {
    sidebar[folderOf(link) === '/' ? link : folderOf(link)] = items;
  }
}

const base = process.env.SITE_BASE ?? '/';
export default defineConfig({
  title: 'Hookyard',
  description: 'Webhook router: receives, stores and delivers webhooks',
  base,
  srcDir: 'pages',
  outDir: '../dist/site',
  cacheDir: '../dist/.vitepress',
  cleanUrls: true,
  head: [['link', { rel: 'icon', href: `${base}icon.svg` }]],
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
    nav: books.flatMap(({ title, groups }) => {
      const item = groups.flatMap((group) => group.items).find(({ link }) => link.startsWith('/'));
      return item === undefined ? [] : [{ text: title, link: item.link, activeMatch: folderOf(item.link) }];
    }),
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: 'https://github.com/hookyard/hookyard' }],
  },
});
