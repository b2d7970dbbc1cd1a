// Makes a CodeMirror editor; a file of its own, so that it is loaded with the first editor.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { bracketMatching, defaultHighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { nonce } from '../nonce.ts';
import type { Language } from './Editor.tsx';

interface Options {
  label: string;
  value: string;
  language: Language;
  readOnly: boolean;
}

const languages = { json, javascript, text: () => [] };

export function edit(
  place: HTMLElement,
  { label, value, language, readOnly }: Options,
  changed: (text: string) => void,
) {
  const view = new EditorView({
    parent: place,
    state: EditorState.create({
      doc: value,
      extensions: [
        EditorView.cspNonce.of(nonce),
        lineNumbers(),
        history(),
        drawSelection(),
        bracketMatching(),
        syntaxHighlighting(defaultHighlightStyle),
        languages[language](),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.lineWrapping,
        EditorState.readOnly.of(readOnly),
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorView.theme({
          '&': { maxHeight: '50vh', fontSize: '12px' },
          '.cm-gutters': { backgroundColor: 'transparent', color: 'inherit' },
          '.cm-content': { caretColor: 'currentColor' },
        }),
        EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
      ],
    }),
  });
  return {
    set(text: string) {
      const now = view.state.doc.toString();
      if (text !== now) view.dispatch({ changes: { from: 0, to: now.length, insert: text } });
    },
    end: () => view.destroy(),
  };
}
