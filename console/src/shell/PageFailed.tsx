// A page that broke, or whose file could not be loaded. The other pages work.
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { Failed } from '../components/Failed.tsx';

export function PageFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const again = () => {
    reset();
    void router.invalidate();
  };
  return <Failed error={error} again={again} />;
}
