package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/zeebo/xxh3"
)

// S3 is a Store in a bucket of Amazon S3, or of whatever speaks its protocol and gives what was just written (S3 does).
// An object carries a checksum of ours beside the one that the server holds against what it receives, so that a Get
// notices damage on the way back too, and reads again.
type S3 struct {
	client *minio.Client
	bucket string
	// folder is what all keys begin with in the bucket: empty, or ending with a slash.
	folder string
}

const (
	// s3Attempts bounds how often a call is tried: with pauses that double from s3FirstPause, about three seconds.
	s3Attempts   = 6
	s3FirstPause = 100 * time.Millisecond
	// s3Patience is how long one try may take, and s3Pace, in bytes a second, how much longer for an object of some size:
	// what is slower than that has stopped.
	s3Patience = time.Minute
	s3Pace     = 1 << 20
	// s3MaxObject is the most a Get reads: what S3 takes in one Put.
	s3MaxObject = 5 << 30
)

// checksumName is the metadata of an object with its checksum: 16 hexadecimal digits of XXH3.
const checksumName = "Tributary-Xxh3"

// OpenS3 opens the store that a URL names: "s3://bucket/folder?endpoint=https://host:port&region=name". The folder may
// be left out; without an endpoint it is Amazon's. Credentials come from the environment (AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY), from ~/.aws/credentials, or from the machine's role, in this order. Only one environment may
// use a folder.
func OpenS3(ctx context.Context, at string) (*S3, error) {
	s, err := parseS3(at)
	if err != nil {
		return nil, fmt.Errorf("open object store: %w", err)
	}
	err = s.retry(ctx, s3Patience, func(ctx context.Context) error {
		found, err := s.client.BucketExists(ctx, s.bucket)
		if err == nil && !found {
			return errNoBucket
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open object store: %w", s.failed(err))
	}
	return s, nil
}

var errNoBucket = errors.New("there is no such bucket")

func parseS3(at string) (*S3, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	folder := strings.Trim(u.Path, "/")
	switch {
	case u.Scheme != "s3" || u.Host == "":
		return nil, fmt.Errorf("%q is no URL of the form s3://bucket/folder", u.Redacted())
	case u.User != nil:
		return nil, errors.New("credentials belong into the environment or ~/.aws/credentials, not into the URL, which others can see")
	case folder != "":
		if err := checkKey(folder); err != nil {
			return nil, err
		}
		folder += "/"
	}
	endpoint, region := &url.URL{Scheme: "https", Host: "s3.amazonaws.com"}, ""
	for name, values := range u.Query() {
		switch value := values[len(values)-1]; name {
		case "region":
			region = value
		case "endpoint":
			endpoint, err = url.Parse(value)
			if err != nil || !isEndpoint(endpoint) {
				return nil, fmt.Errorf("endpoint %q is no URL of the form https://host:port", value)
			}
		default:
			return nil, fmt.Errorf("the URL has a parameter %q; there are endpoint and region", name)
		}
	}
	client, err := minio.New(endpoint.Host, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{Client: &http.Client{Timeout: s3Patience}},
		}),
		Secure: endpoint.Scheme == "https",
		Region: region,
		// Calls are tried again here, where also a body that breaks off counts.
		MaxRetries: 1,
	})
	if err != nil {
		return nil, err
	}
	return &S3{client: client, bucket: u.Host, folder: folder}, nil
}

func isEndpoint(u *url.URL) bool {
	return u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && strings.Trim(u.Path, "/") == ""
}

// retry tries a call until it succeeds or it is clear that trying again does not help. patience bounds each try.
func (s *S3) retry(ctx context.Context, patience time.Duration, call func(context.Context) error) error {
	pause := s3FirstPause
	for try := 1; ; try++ {
		err := s3Attempt(ctx, patience, call)
		if err == nil || try == s3Attempts || ctx.Err() != nil || s3Final(err) {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
		pause *= 2
	}
}

func s3Attempt(ctx context.Context, patience time.Duration, call func(context.Context) error) error {
	try, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := call(try)
	if err != nil && try.Err() != nil && ctx.Err() == nil {
		// Who asked has not run out of time: the server was too slow.
		return fmt.Errorf("no answer within %v", patience)
	}
	return err
}

// ServerError says that the server that keeps a bucket refused a call, failed, or could not be reached, and went on so
// when it was tried again.
type ServerError struct {
	Bucket, Endpoint string
	Err              error
}

func (e *ServerError) Error() string {
	cause := e.Err.Error()
	if answer := minio.ToErrorResponse(e.Err); answer.Code != "" && !strings.Contains(cause, answer.Code) {
		cause = answer.Code + ": " + cause
	}
	return fmt.Sprintf("bucket %s at %s: %s", e.Bucket, e.Endpoint, cause)
}

func (e *ServerError) Unwrap() error { return e.Err }

// failed says of a call's error which bucket it was.
func (s *S3) failed(err error) error {
	return &ServerError{Bucket: s.bucket, Endpoint: s.client.EndpointURL().String(), Err: err}
}

// s3Final says whether the server will go on refusing: the request is wrong, not the moment.
func s3Final(err error) bool {
	if errors.Is(err, errNoBucket) {
		return true
	}
	switch answer := minio.ToErrorResponse(err); answer.Code {
	// The request was damaged or broke off on its way.
	case "BadDigest", "IncompleteBody", "RequestTimeout", "XAmzContentSHA256Mismatch":
		return false
	default:
		return answer.StatusCode >= 400 && answer.StatusCode < 500 &&
			answer.StatusCode != http.StatusRequestTimeout && answer.StatusCode != http.StatusTooManyRequests
	}
}

// Get implements Store.
func (s *S3) Get(ctx context.Context, key string) ([]byte, error) {
	if err := begin(ctx, key); err != nil {
		return nil, err
	}
	var data []byte
	// How large it is, is not known yet; a part has 128 MiB at most.
	err := s.retry(ctx, s3Patience+128*time.Second, func(ctx context.Context) (err error) {
		data, err = s.get(ctx, key)
		return err
	})
	switch {
	case err != nil && minio.ToErrorResponse(err).Code == "NoSuchKey":
		return nil, notFound(key)
	case err != nil:
		return nil, fmt.Errorf("get object %s: %w", key, s.failed(err))
	}
	return data, nil
}

// get reads an object once, and checks that it is whole.
func (s *S3) get(ctx context.Context, key string) ([]byte, error) {
	body, info, _, err := minio.Core{Client: s.client}.GetObject(ctx, s.bucket, s.folder+key, minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if info.Size < 0 || info.Size > s3MaxObject {
		return nil, fmt.Errorf("the server says that it has %d bytes", info.Size)
	}
	data := make([]byte, info.Size)
	if n, err := io.ReadFull(body, data); err != nil {
		return nil, fmt.Errorf("%d of %d bytes came: %w", n, len(data), err)
	}
	// What another program has copied into the bucket may have lost its metadata.
	if want := info.UserMetadata[checksumName]; want != "" && want != checksum(data) {
		return nil, fmt.Errorf("%w: its checksum is %s, it was put with %s", ErrCorrupt, checksum(data), want)
	}
	return data, nil
}

func checksum(data []byte) string { return fmt.Sprintf("%016x", xxh3.Hash(data)) }

// Put implements Store.
func (s *S3) Put(ctx context.Context, key string, data []byte) error {
	if err := begin(ctx, key); err != nil {
		return err
	}
	options := minio.PutObjectOptions{
		ContentType:    "application/octet-stream",
		UserMetadata:   map[string]string{checksumName: checksum(data)},
		SendContentMd5: true,
		// The MD5 is signed, so the body need not be; signed over plain HTTP it comes in pieces, which an empty one cannot.
		DisableContentSha256: true,
		// One request, so that there is nothing to clean up of one that failed.
		DisableMultipart: true,
	}
	err := s.retry(ctx, s3Patience+time.Duration(len(data)/s3Pace)*time.Second, func(ctx context.Context) error {
		_, err := s.client.PutObject(ctx, s.bucket, s.folder+key, bytes.NewReader(data), int64(len(data)), options)
		return err
	})
	if err != nil {
		return fmt.Errorf("put object %s (%d bytes): %w", key, len(data), s.failed(err))
	}
	return nil
}

// Delete implements Store.
func (s *S3) Delete(ctx context.Context, key string) error {
	if err := begin(ctx, key); err != nil {
		return err
	}
	err := s.retry(ctx, s3Patience, func(ctx context.Context) error {
		return s.client.RemoveObject(ctx, s.bucket, s.folder+key, minio.RemoveObjectOptions{})
	})
	if err != nil && minio.ToErrorResponse(err).Code != "NoSuchKey" {
		return fmt.Errorf("delete object %s: %w", key, s.failed(err))
	}
	return nil
}

// List implements Store.
func (s *S3) List(ctx context.Context, prefix string) ([]Info, error) {
	var out []Info
	from := ""
	for {
		page, more, err := s.page(ctx, prefix, from)
		if err != nil {
			return nil, fmt.Errorf("list objects %s*: %w", prefix, s.failed(err))
		}
		out = append(out, page...)
		if !more {
			break
		}
		from = page[len(page)-1].Key
	}
	sortInfos(out)
	return out, nil
}

// s3Page is how many objects are listed at once: the most that S3 gives.
const s3Page = 1000

// page lists some objects whose keys come after a key, and says whether there may be more.
func (s *S3) page(ctx context.Context, prefix, after string) (page []Info, more bool, err error) {
	options := minio.ListObjectsOptions{Prefix: s.folder + prefix, Recursive: true, MaxKeys: s3Page}
	if after != "" {
		options.StartAfter = s.folder + after
	}
	err = s.retry(ctx, s3Patience, func(ctx context.Context) error {
		page = page[:0]
		for o := range s.client.ListObjectsIter(ctx, s.bucket, options) {
			if o.Err != nil {
				return o.Err
			}
			page = append(page, Info{strings.TrimPrefix(o.Key, s.folder), o.Size})
			if len(page) == s3Page {
				break
			}
		}
		return nil
	})
	return page, len(page) == s3Page, err
}
