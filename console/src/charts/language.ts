// Chromium on Linux calls the language of the locale POSIX `en-US@posix`, which `Intl` refuses. uPlot asks for it when
// it is loaded, and no chart would be drawn.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' });
}
