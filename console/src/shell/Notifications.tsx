// Where short messages appear.
import '@mantine/notifications/styles.css';
import { Notifications as Shown } from '@mantine/notifications';

export const Notifications = () => <Shown position="bottom-right" containerWidth={360} />;
