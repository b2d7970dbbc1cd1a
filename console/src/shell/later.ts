// Parts of the shell that are loaded after the page: so much less is loaded before it can be used.
import { lazy } from 'react';

export const Palette = lazy(async () => ({ default: (await import('./Palette.tsx')).Palette }));
export const SignIn = lazy(async () => ({ default: (await import('./SignIn.tsx')).SignIn }));
export const CustomRange = lazy(async () => ({ default: (await import('./CustomRange.tsx')).CustomRange }));
export const KeysDialog = lazy(async () => ({ default: (await import('./KeysDialog.tsx')).KeysDialog }));
export const Notifications = lazy(async () => ({ default: (await import('./Notifications.tsx')).Notifications }));

export async function openPalette(): Promise<void> {
  (await import('./Palette.tsx')).openPalette();
}
