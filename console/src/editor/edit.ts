// Makes a CodeMirror editor; a file of its own, so that it is loaded with the first editor.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { bracketMatching, syntaxHighlighting } from '@codemirror/language';
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { nonce } from '../nonce.ts';
import type { Language, Mark } from './Editor.tsx';

interface Options {
  label: string;
  value: string;
  language: Language;
  readOnly: boolean;
}

const languages = { json, javascript, text: () => [] };

const setMarks = StateEffect.define<readonly Mark[]>();
const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(decorations, transaction) {
    const effect = transaction.effects.find((each) => each.is(setMarks));
    if (!effect) return decorations.map(transaction.changes);
    const { doc } = transaction.state;
    const lines = [...new Set((effect.value as Mark[]).map(({ line }) => Math.min(Math.max(1, line), doc.lines)))];
    return Decoration.set(
      lines
        .toSorted((a, b) => a - b)
        .map((line) => Decoration.line({ class: 'problem-line' }).range(doc.line(line).from)),
    );
  },
  provide: (field) => EditorView.decorations.from(field),
});

export interface EditorHandle {
  set(text: string): void;
  mark(marks: readonly Mark[]): void;
  end(): void;
}

export function edit(
  place: HTMLElement,
  { label, value, language, readOnly }: Options,
  changed: (text: string) => void,
): EditorHandle {
  const view = new EditorView({
    parent: place,
    state: EditorState.create({
      doc: value,
      extensions: [
        EditorView.cspNonce.of(nonce),
        lineNumbers(),
        history(),
        drawSelection(),
        // A mark that turns text around, or has no width, is shown.
        highlightSpecialChars(),
        bracketMatching(),
        // Colours are in console.css, with enough contrast in both themes.
        syntaxHighlighting(classHighlighter),
        languages[language](),
        marked,
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.lineWrapping,
        EditorState.readOnly.of(readOnly),
        // With a place in the order of tabs that programs for accessibility know of, also where it scrolls.
        EditorView.contentAttributes.of({ 'aria-label': label, 'aria-readonly': String(readOnly), tabindex: '0' }),
        EditorView.theme({
          '&': { maxHeight: '50vh', fontSize: '12px' },
          '.cm-gutters': { backgroundColor: 'transparent', color: 'inherit' },
          '.cm-content': { caretColor: 'currentColor' },
          // As plain text, Chromium keeps the colour of what is typed over in a style attribute, which the policy
          // refuses.
          '.cm-content[contenteditable=true]': { WebkitUserModify: 'read-write' },
        }),
        EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
      ],
    }),
  });
  return {
    set(text) {
      const now = view.state.doc.toString();
      if (text !== now) view.dispatch({ changes: { from: 0, to: now.length, insert: text } });
    },
    mark: (marks) => view.dispatch({ effects: setMarks.of(marks) }),
    end: () => view.destroy(),
  };
}
