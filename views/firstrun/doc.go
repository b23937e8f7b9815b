// Package firstrun is the screen of a console that was started with nothing to
// look at: no configuration and no flags. It offers three ways on, each as the
// exact command to type.
//
// It runs none of them and reads nothing.
package firstrun
