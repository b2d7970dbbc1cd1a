// What `npm start` allows as destinations. On one machine the first receiver is usually on that machine; with a second
// organization its loopback is no place for strangers any more.

/** The entry of HOOKYARD_DELIVERY_ALLOW that opens loopback as long as there is one organization. */
export const LOOPBACK_FOR_ONE = 'loopback-for-one-organization';

export const LOOPBACK_HOSTS = ['127.0.0.1', '::1', 'localhost'];

/** For the log, once the entry has ended. */
export const LOOPBACK_ENDED = `there is more than one organization, so destinations on this machine (${LOOPBACK_HOSTS.join(', ')}) are refused; to allow them for every organization, set HOOKYARD_DELIVERY_ALLOW=${LOOPBACK_HOSTS.join(',')} and restart`;

/** For the log, once the entry is in force again. */
export const LOOPBACK_BACK = `there is one organization, so destinations on this machine (${LOOPBACK_HOSTS.join(', ')}) are allowed`;
