// The design of DESIGN.md as Mantine takes it: type, radius, and the colours of its components, by the variables of
// console.css.
import { type CSSVariablesResolver, createTheme } from '@mantine/core';

const AT_ONCE = { transitionProps: { duration: 0 } };
const small = { defaultProps: { size: 'xs' } };
const list = { defaultProps: { size: 'xs', comboboxProps: AT_ONCE } };

export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: { light: 6, dark: 6 },
  colors: {
    accent: [
      ...(['#eef0ff', '#e0e3ff', '#c7ccff', '#a5b0ff', '#8189f8', '#6366f1'] as const),
      ...(['#4f46e5', '#4338ca', '#3730a3', '#312e81'] as const),
    ],
    dark: [
      ...(['#ececf0', '#c9cbd2', '#a2a5af', '#7d818c', '#3a3d45', '#282b31'] as const),
      ...(['#16181b', '#0f1012', '#0a0b0d', '#060708'] as const),
    ],
  },
  defaultRadius: 6,
  fontFamily: 'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Open Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  fontSizes: { xs: '12px', sm: '13px', md: '13px', lg: '14px', xl: '20px' },
  lineHeights: { xs: '1.35', sm: '1.5', md: '1.5', lg: '1.45', xl: '1.4' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  respectReducedMotion: true,
  cursorType: 'pointer',
  // By their names: an import would load them all with the first page.
  components: {
    Button: { defaultProps: { size: 'xs', fw: 500 } },
    Checkbox: small,
    Menu: { defaultProps: { ...AT_ONCE, position: 'bottom-end', shadow: 'md' } },
    NativeSelect: small,
    NumberInput: small,
    PasswordInput: {
      defaultProps: { ...small.defaultProps, visibilityToggleButtonProps: { 'aria-label': 'Show value' } },
    },
    Progress: { defaultProps: { size: 'sm', transitionDuration: 0 } },
    SegmentedControl: { defaultProps: { size: 'xs', transitionDuration: 0 } },
    // What is typed and Enter choose a record; they do not send the form.
    Select: { defaultProps: { ...list.defaultProps, selectFirstOptionOnChange: true } },
    MultiSelect: list,
    Textarea: small,
    TextInput: small,
    Tooltip: { defaultProps: AT_ONCE },
    // Named for screen readers; nothing moves, so that keys work at once.
    Modal: {
      defaultProps: {
        transitionProps: { duration: 0 },
        closeButtonProps: { 'aria-label': 'Close' },
        // Its head is not the head of the page.
        attributes: { header: { role: 'none' } },
      },
    },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Dismiss' } } },
  },
});

const shared = {
  '--mantine-color-body': 'var(--page)',
  '--mantine-color-text': 'var(--ink)',
  '--mantine-color-dimmed': 'var(--quiet)',
  '--mantine-color-placeholder': 'var(--quiet)',
  '--mantine-color-anchor': 'var(--accent)',
  '--mantine-color-error': 'var(--bad)',
  '--mantine-color-default': 'var(--card)',
  '--mantine-color-default-hover': 'var(--hover)',
  '--mantine-color-default-color': 'var(--ink)',
  '--mantine-color-default-border': 'var(--line-strong)',
};
export const variables: CSSVariablesResolver = () => ({ variables: {}, light: shared, dark: shared });
