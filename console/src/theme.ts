// Colours with enough contrast for text in both themes (WCAG 2.2, 1.4.3), and quiet defaults.
import { createTheme, Modal, Notification } from '@mantine/core';

export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  autoContrast: true,
  defaultRadius: 'sm',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  respectReducedMotion: true,
  components: {
    // Named for screen readers; nothing moves, so that keys work at once.
    Modal: Modal.extend({
      defaultProps: {
        transitionProps: { duration: 0 },
        closeButtonProps: { 'aria-label': 'Close' },
        // Its head is no head of the page.
        attributes: { header: { role: 'none' } },
      },
    }),
    Notification: Notification.extend({ defaultProps: { closeButtonProps: { 'aria-label': 'Close the message' } } }),
  },
});
