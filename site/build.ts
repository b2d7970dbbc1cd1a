// npm run site: the documentation as a site, in dist/site. The pages are those of docs/, the menus follow the tables of
// docs/README.md, the reference of the API follows docs/openapi.json. A warning or a dead link ends the build.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { apiPages, type Description } from './api-pages.ts';

interface Item {
  text: string;
  link: string;
  about: string;
}
interface Group {
  text: string;
  items: Item[];
}
interface Book {
  title: string;
  about: string;
  groups: Group[];
}
/** What .vitepress/config.ts reads. */
export interface Site {
  base: string;
  version: string;
  isNewest: boolean;
  versions: { text: string; link: string }[];
  books: Book[];
}

const PROJECT = join(import.meta.dirname, '..');
const DOCS = join(PROJECT, 'docs');
const PAGES = join(import.meta.dirname, 'pages');
const BUILT = join(PROJECT, 'dist', 'site');
const REPOSITORY = 'https://github.com/hookyard/hookyard';
const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { version: string };
const VERSIONS = process.env.SITE_VERSIONS?.split(' ') ?? [version];
const BASE = new URL(urlOf(version)).pathname;
// The page at / is index.md, so that the index of docs/ has another name.
const INDEX = 'contents.md';
const LINK = /(?<=\]\()[^)\s]+(?=\))/g;
const WARNING = /warn|\(!\)|deprecat|not loaded/i;

rmSync(PAGES, { recursive: true, force: true });
rmSync(BUILT, { recursive: true, force: true });
for (const file of globSync('**/*.md', { cwd: DOCS })) {
  const text = readFileSync(join(DOCS, file), 'utf8');
  write(
    file === 'README.md' ? INDEX : file,
    text.replace(LINK, (target) => relink(file, target)),
  );
}
cpSync(join(DOCS, 'images'), join(PAGES, 'images'), { recursive: true });
cpSync(join(DOCS, 'openapi.json'), join(PAGES, 'public', 'openapi.json'));
cpSync(join(PROJECT, 'console', 'src', 'icon.svg'), join(PAGES, 'public', 'icon.svg'));
cpSync(join(import.meta.dirname, 'index.md'), join(PAGES, 'index.md'));
const books = [...booksOf(readFileSync(join(DOCS, 'README.md'), 'utf8')), apiBook()];
// Those of a single version need no address.
const versions = VERSIONS.length === 1 ? [] : VERSIONS.map((each) => ({ text: each, link: urlOf(each) }));
const site: Site = { base: BASE, version, isNewest: version === VERSIONS[0], versions, books };
write('site.json', JSON.stringify(site));

install();
const printed = run(process.execPath, [join('node_modules', 'vitepress', 'bin', 'vitepress.js'), 'build', '.']);
if (WARNING.test(printed)) fail('the build warns, see above');
// Pages link to images too, which have other names among the assets.
cpSync(join(DOCS, 'images'), join(BUILT, 'images'), { recursive: true });
writeTextsForModels();
const dead = deadLinks();
if (dead.length > 0) fail(`dead links:\n${dead.join('\n')}`);
console.log(`dist/site has ${globSync('**/*.html', { cwd: BUILT }).length} pages`);

/**
 * Where the pages of a version will be: those of the newest at SITE_URL, of others in a folder there, such as v0.1/.
 */
function urlOf(each: string): string {
  const root = (process.env.SITE_URL || 'http://localhost').replace(/\/*$/, '/');
  return each === VERSIONS[0] ? root : `${root}v${each.replace(/\.\d+$/, '')}/`;
}

/** Links to files outside the site become links to the repository. */
function relink(from: string, target: string): string {
  const [path = '', anchor] = target.split('#');
  if (path === '' || /^[a-z]+:/.test(path)) return target;
  const file = posix.join('docs', posix.dirname(from), path);
  if (!file.startsWith('docs/')) return `${REPOSITORY}/blob/main/${file}${anchor ? `#${anchor}` : ''}`;
  return target.replace(/README\.md(?=#|$)/, INDEX);
}

/** The tables under the headings of docs/README.md; a row in bold starts a group. */
function booksOf(index: string): Book[] {
  return index
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [title = ''] = part.split('\n');
      const groups: Group[] = [{ text: title, items: [] }];
      for (const [, cell = '', about = ''] of part.matchAll(/^\| (.+?) \| ?(.*?) ?\|$/gm)) {
        const [, text = '', path = ''] = /^\[(.+)\]\((.+)\)$/.exec(cell) ?? [];
        if (cell.startsWith('**')) groups.push({ text: cell.replaceAll('*', ''), items: [] });
        else if (path !== '') groups.at(-1)?.items.push({ text, link: pageLink(path), about });
      }
      return { title, about: '', groups: groups.filter(({ items }) => items.length > 0) };
    });
}

function pageLink(path: string): string {
  return path.startsWith('../') ? `${REPOSITORY}/blob/main/${path.slice(3)}` : `/${path.replace(/\.md$/, '')}`;
}

function apiBook(): Book {
  const description = JSON.parse(readFileSync(join(DOCS, 'openapi.json'), 'utf8')) as Description;
  const pages = apiPages(description);
  const list = pages.map(({ name, title, about }) => `* [${title}](${name}.md): ${about}`).join('\n');
  write(
    'api/index.md',
    `# API reference\n\n${description.info.description}\n\n${list}\n\nThe same as [OpenAPI](../openapi.json).\n`,
  );
  for (const { name, text } of pages) write(`api/${name}.md`, text);
  const items = pages.map(({ name, title, about }) => ({ text: title, link: `/api/${name}`, about }));
  return {
    title: 'API',
    about: '',
    groups: [
      {
        text: 'API reference',
        items: [{ text: 'Overview', link: '/api/', about: 'Credentials, lists, errors' }, ...items],
      },
    ],
  };
}

/** llms.txt, by llmstxt.org: an index of the pages as Markdown, which are put beside their HTML. */
function writeTextsForModels(): void {
  for (const file of globSync('**/*.md', { cwd: PAGES })) cpSync(join(PAGES, file), join(BUILT, file));
  const about = /^# .+\n\n([\s\S]+?)\n\n/.exec(readFileSync(join(PROJECT, 'README.md'), 'utf8'))?.[1] ?? '';
  const parts = books.map(({ title, groups }) => {
    const items = groups.flatMap((group) => group.items).filter(({ link }) => link.startsWith('/'));
    const lines = items.map(({ text, link, about }) => {
      const file = link.endsWith('/') ? `${link}index.md` : `${link}.md`;
      return `- [${text}](${BASE}${file.slice(1)}): ${about}`;
    });
    return `## ${title}\n\n${lines.join('\n')}`;
  });
  const text = `# Hookyard\n\n> ${about.replaceAll('\n', ' ')}\n\n${parts.join('\n\n')}\n`;
  writeFileSync(join(BUILT, 'llms.txt'), text);
}

function write(file: string, text: string): void {
  const path = join(PAGES, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** What the lock file says, unless it is there. */
function install(): void {
  const changed = (path: string) => statSync(join(import.meta.dirname, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (changed('node_modules/.package-lock.json') > changed('package-lock.json')) return;
  run('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']);
}

/** @returns what it printed, which is shown too */
function run(command: string, args: string[]): string {
  // The settings of npm that calls this are those of another project.
  const own = Object.entries(process.env).filter(([name]) => !/^npm_(config_|package_|lifecycle_)/.test(name));
  const env = { ...Object.fromEntries(own), NODE_ENV: '' };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: import.meta.dirname, encoding: 'utf8', env });
  process.stdout.write(stdout + stderr);
  if (status !== 0) fail(`${command} ${args[0] ?? ''} ended with ${status}`);
  return stdout + stderr;
}

function fail(why: string): never {
  console.error(why);
  process.exit(1);
}

/** Every address in a page that is one of this site, with its anchor. */
function deadLinks(): string[] {
  const pages = new Map(
    globSync('**/*.html', { cwd: BUILT }).map((file) => [file, readFileSync(join(BUILT, file), 'utf8')] as const),
  );
  return [...pages].flatMap(([file, html]) =>
    [...html.matchAll(/<a [^>]*?href="([^"]+)"/g)].flatMap(([, href = '']) => {
      const { origin, pathname, hash } = new URL(href, `http://site${BASE}${file}`);
      if (origin !== 'http://site') return [];
      const path = decodeURIComponent(pathname).slice(BASE.length);
      const target = [path, `${path}.html`, `${path}index.html`].find(
        (each) => existsSync(join(BUILT, each)) && each !== '' && !each.endsWith('/'),
      );
      if (target === undefined) return [`${file}: ${href}`];
      const page = pages.get(target);
      const id = decodeURIComponent(hash.slice(1));
      return id === '' || page === undefined || page.includes(`id="${id}"`) ? [] : [`${file}: ${href}`];
    }),
  );
}
