package runner

// Ended is closed when the running life of the child has ended, whoever ended it.
func (c *Child) Ended() <-chan struct{} { return c.running.ended }
