package hookyard

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how far the time of a webhook may be from now.
const Tolerance = 5 * time.Minute

// ErrNotVerified is the error of VerifyWebhook for a webhook that was not signed with the secret, or is too old.
var ErrNotVerified = errors.New("the webhook is not verified")

// VerifiedWebhook is a webhook with a valid signature.
type VerifiedWebhook struct {
	// ID is the same in every attempt: use it to skip webhooks that you have already processed.
	ID string
	// Timestamp is when the webhook was sent.
	Timestamp time.Time
}

var seconds = regexp.MustCompile(`^[0-9]{1,12}$`)

// VerifyWebhook verifies a webhook from Hookyard, or from any other sender that signs according to Standard Webhooks (v1,
// HMAC-SHA256).
//
// The body is the body as received, before anything parses it. A secret is whsec_...; pass several during a rotation: one of them
// must match. All errors except those about a secret wrap ErrNotVerified: return 400 or 401, and do not process the webhook.
func VerifyWebhook(body []byte, header http.Header, secrets ...string) (VerifiedWebhook, error) {
	return VerifyWebhookAt(time.Now(), body, header, secrets...)
}

// VerifyWebhookAt is VerifyWebhook with a different current time, for tests of receivers.
func VerifyWebhookAt(now time.Time, body []byte, header http.Header, secrets ...string) (VerifiedWebhook, error) {
	keys, err := keysOf(secrets)
	if err != nil {
		return VerifiedWebhook{}, err
	}
	id, timestamp, signatures := header.Get("webhook-id"), header.Get("webhook-timestamp"), header.Get("webhook-signature")
	if id == "" || timestamp == "" || signatures == "" {
		return VerifiedWebhook{}, refused("webhook-id, webhook-timestamp or webhook-signature is missing")
	}
	if !seconds.MatchString(timestamp) {
		return VerifiedWebhook{}, refused("webhook-timestamp is not a number of seconds")
	}
	at, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return VerifiedWebhook{}, refused("webhook-timestamp is not a number of seconds")
	}
	sent := time.Unix(at, 0)
	if now.Sub(sent).Abs() > Tolerance {
		return VerifiedWebhook{}, refused("webhook-timestamp is too far from the current time")
	}
	if !fits(keys, id+"."+timestamp+".", body, signatures) {
		return VerifiedWebhook{}, refused("no signature matches: the secret is wrong, or the webhook was sent by someone else or changed in transit")
	}
	return VerifiedWebhook{ID: id, Timestamp: sent}, nil
}

// fits compares all, so that the time it takes tells nothing.
func fits(keys [][]byte, prefix string, body []byte, signatures string) bool {
	found := false
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(prefix))
		mac.Write(body)
		expected := []byte(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		for _, each := range strings.Split(signatures, " ") {
			version, signature, _ := strings.Cut(each, ",")
			if version == "v1" && hmac.Equal([]byte(signature), expected) {
				found = true
			}
		}
	}
	return found
}

func keysOf(secrets []string) ([][]byte, error) {
	if len(secrets) == 0 {
		return nil, errors.New("no secret to verify with")
	}
	keys := make([][]byte, len(secrets))
	for index, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) == 0 {
			return nil, errors.New(`a secret must be "whsec_" followed by base64`)
		}
		keys[index] = key
	}
	return keys, nil
}

func refused(why string) error { return fmt.Errorf("%w: %s", ErrNotVerified, why) }
